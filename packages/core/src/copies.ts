// The room of copies: what is made by one copy of this package is known by another.
//
// An app often holds two: two versions in one tree, a test runner that loads modules anew, a bundle beside a package. `instanceof` alone
// would not know an error of the other copy, nor a result: a refusal would not be tried again, and a run that was done would go on.

/** Lets `instanceof` know what any copy made of these classes, by their names here. Subclasses are asked as ever. */
export function knownAcrossCopies(kinds: { readonly [name: string]: { readonly prototype: object } }): void {
  for (const [name, kind] of Object.entries(kinds)) {
    const mark = Symbol.for(`rondo.${name}`);
    Object.defineProperty(kind.prototype, mark, { value: true });
    Object.defineProperty(kind, Symbol.hasInstance, {
      value(this: unknown, one: unknown): boolean {
        if (this !== kind) return Function.prototype[Symbol.hasInstance].call(this as () => void, one);
        return typeof one === "object" && one !== null && mark in one;
      },
    });
  }
}
