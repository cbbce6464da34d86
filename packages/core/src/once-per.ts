// The room of what is made once: the same thing of the same object, as long as the object lives.
//
// Whoever encodes or measures what was made can tell by identity that it has not changed.

/** A function that makes something of an object when it is first asked, and gives the same from then on. */
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
