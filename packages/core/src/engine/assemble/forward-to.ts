/** An object that stands for a port nobody has provided yet; plugins may be set up in any order. */
export function forwardTo(resolve: () => object | undefined, port: string): object {
  return new Proxy(
    {},
    {
      get(_, key) {
        const target = resolve();
        if (!target) throw new TypeError(`the ${port} is not there before the agent is built`);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
      has: (_, key) => Reflect.has(resolve() ?? {}, key),
    },
  );
}
