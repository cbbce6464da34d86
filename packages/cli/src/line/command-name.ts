// The room of the command's name: what a person types to call it once more.
//
// What npm starts is in no shell's path: behind `npm start`, a `rondo show` that is told would not be found.

/** `rondo`, or `npx rondo` where npm started it. */
export const rondo: string = process.env.npm_command === undefined ? "rondo" : "npx rondo";
