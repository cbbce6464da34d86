// The room of what is built: whether processes of the tests run over the built packages, or over their sources.
//
// `npm test` has just built them, and says so to what it runs. A process loads a build in a quarter of the time that it
// takes to strip and link the sources, and the build is what users have. Elsewhere a build may be missing or old.

/** Where `npm test` puts the tarballs it made, for the tests that need them. */
export const tarballsVariable = "RONDO_TARBALLS";

export const isBuilt: boolean = process.env[tarballsVariable] !== undefined;

/** The arguments for Node with which a program of the workspace finds the packages. */
export const withPackages: readonly string[] = isBuilt ? [] : ["--conditions=rondo-source"];
