// The room of caching per object: the same result for the same object, as long as the object lives.
//
// Code that encodes or measures the result can see by identity that it has not changed.

/** A function that computes something from an object at the first call, and returns the same result from then on. */
export function oncePer<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const made = new WeakMap<Of, Made>();
  return (of) => {
    let known = made.get(of);
    if (known === undefined) {
      known = make(of);
      made.set(of, known);
    }
    return known;
  };
}
