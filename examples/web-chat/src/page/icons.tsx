const paths = {
  anchor:
    "M12 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm0 0V21m-4-8.5h8M4 14.5c0 4 3.5 6.5 8 6.5s8-2.5 8-6.5",
  plus: "M12 5v14M5 12h14",
  menu: "M4 7h16M4 12h16M4 17h16",
  send: "M12 19V5m0 0-6 6m6-6 6 6",
  stop: "M7 7h10v10H7z",
  pencil: "M4 20l1-4.5L16 4.5l3.5 3.5L8.5 19 4 20Z",
  trash: "M5 7h14M10 7V4.5h4V7m-7.5 0 .8 12.5h9.4L17.5 7",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6 6 18",
  tool: "M14.5 6.5a4 4 0 0 0-5.3 5L4 16.7 7.3 20l5.2-5.2a4 4 0 0 0 5-5.3l-2.6 2.6-2.5-.5-.5-2.5 2.6-2.6Z",
  shield: "M12 3.5 5 6v5.5c0 4.3 2.9 7.5 7 9 4.1-1.5 7-4.7 7-9V6l-7-2.5Z",
  down: "M12 5v14m0 0 6-6m-6 6-6-6",
  fold: "M4 9h16M4 15h16M12 2v4m0 0 2-2m-2 2-2-2M12 22v-4m0 0 2 2m-2-2-2 2",
  turn: "M5 5v6a4 4 0 0 0 4 4h10m0 0-4-4m4 4-4 4",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-13v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4m0-12.8L17 7M7 17l-1.4 1.4",
  moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5Z",
  auto: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16Zm0 0v16M12 8h3.6M12 12h4.6M12 16h3.6",
};

/** Name of an icon. */
export type IconName = keyof typeof paths;

/** Line icon of 24 by 24. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
