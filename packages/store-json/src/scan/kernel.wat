;; Finds the first place at or after $at where the byte is $a0 or $a1 and the one $gap further on is $b0 or $b1.
;; Looks at 64 places at a time, so what it returns may be at or beyond $end; -1 when there is none before $end.
;; Reads up to $gap + 64 bytes beyond $end: whoever calls it keeps that much free in the second page.
(module
  (memory (export "memory") 2)
  (func (export "find")
    (param $at i32) (param $end i32) (param $a0 i32) (param $a1 i32) (param $b0 i32) (param $b1 i32) (param $gap i32)
    (result i32)
    (local $va0 v128) (local $va1 v128) (local $vb0 v128) (local $vb1 v128)
    (local $m0 v128) (local $m1 v128) (local $m2 v128) (local $m3 v128)
    (local.set $va0 (i8x16.splat (local.get $a0)))
    (local.set $va1 (i8x16.splat (local.get $a1)))
    (local.set $vb0 (i8x16.splat (local.get $b0)))
    (local.set $vb1 (i8x16.splat (local.get $b1)))
    (block $none
      (loop $next
        (br_if $none (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $m0 (v128.and
            (v128.or
              (i8x16.eq (v128.load (local.get $at)) (local.get $va0))
              (i8x16.eq (v128.load (local.get $at)) (local.get $va1)))
            (v128.or
              (i8x16.eq (v128.load (i32.add (local.get $at) (local.get $gap))) (local.get $vb0))
              (i8x16.eq (v128.load (i32.add (local.get $at) (local.get $gap))) (local.get $vb1)))))
        (local.set $m1 (v128.and
            (v128.or
              (i8x16.eq (v128.load offset=16 (local.get $at)) (local.get $va0))
              (i8x16.eq (v128.load offset=16 (local.get $at)) (local.get $va1)))
            (v128.or
              (i8x16.eq (v128.load offset=16 (i32.add (local.get $at) (local.get $gap))) (local.get $vb0))
              (i8x16.eq (v128.load offset=16 (i32.add (local.get $at) (local.get $gap))) (local.get $vb1)))))
        (local.set $m2 (v128.and
            (v128.or
              (i8x16.eq (v128.load offset=32 (local.get $at)) (local.get $va0))
              (i8x16.eq (v128.load offset=32 (local.get $at)) (local.get $va1)))
            (v128.or
              (i8x16.eq (v128.load offset=32 (i32.add (local.get $at) (local.get $gap))) (local.get $vb0))
              (i8x16.eq (v128.load offset=32 (i32.add (local.get $at) (local.get $gap))) (local.get $vb1)))))
        (local.set $m3 (v128.and
            (v128.or
              (i8x16.eq (v128.load offset=48 (local.get $at)) (local.get $va0))
              (i8x16.eq (v128.load offset=48 (local.get $at)) (local.get $va1)))
            (v128.or
              (i8x16.eq (v128.load offset=48 (i32.add (local.get $at) (local.get $gap))) (local.get $vb0))
              (i8x16.eq (v128.load offset=48 (i32.add (local.get $at) (local.get $gap))) (local.get $vb1)))))
        (if (v128.any_true
              (v128.or
                (v128.or (local.get $m0) (local.get $m1))
                (v128.or (local.get $m2) (local.get $m3))))
          (then
            (if (v128.any_true (local.get $m0))
              (then (return (i32.add (i32.add (local.get $at) (i32.const 0)) (i32.ctz (i8x16.bitmask (local.get $m0)))))))
            (if (v128.any_true (local.get $m1))
              (then (return (i32.add (i32.add (local.get $at) (i32.const 16)) (i32.ctz (i8x16.bitmask (local.get $m1)))))))
            (if (v128.any_true (local.get $m2))
              (then (return (i32.add (i32.add (local.get $at) (i32.const 32)) (i32.ctz (i8x16.bitmask (local.get $m2)))))))
            (if (v128.any_true (local.get $m3))
              (then (return (i32.add (i32.add (local.get $at) (i32.const 48)) (i32.ctz (i8x16.bitmask (local.get $m3)))))))))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $next)))
    (i32.const -1)))
