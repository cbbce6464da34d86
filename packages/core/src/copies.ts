// The room of copies: classes of one copy of this package are recognised by another copy.
//
// An app often contains two: two versions in one tree, a test runner that loads modules again, a bundle next to a package.
// `instanceof` alone would not recognise an error or a result of the other copy: a refusal would not be retried, and a
// finished run would continue.

/** Makes `instanceof` recognise objects of these classes from any copy, by the names given here. Subclasses are compared as usual. */
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
