// The room of the command's name: what a person types to run it again.
//
// Under npm, `rondo` is not on the shell's PATH, so after `npm start` a hint like `rondo show` would not work.

/** `rondo`, or `npx rondo` where npm started it. */
export const rondo: string = process.env.npm_command === undefined ? "rondo" : "npx rondo";
