// The room of code that is loaded when it is first needed: models' planners and codecs.

/** A function that loads once and gives the same from then on: an import that was done before still costs a walk through the loader. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined;
  return () => {
    if (loaded === undefined) {
      loaded = load();
      // Not kept: a bundle's chunk that did not arrive may arrive the next time.
      loaded.catch(() => {
        loaded = undefined;
      });
    }
    return loaded;
  };
}
