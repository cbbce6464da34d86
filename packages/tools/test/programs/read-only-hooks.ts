// Makes hooks in a guarded repository and in one of its submodules, and everything on the way there read-only; prints what
// was taken away.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { cleared, gitGuard } from "../../src/command/git-guard.ts";

// Root takes away whatever it likes: then it is tried as somebody else, once everything is loaded that only root may read.
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}

const root = realpathSync(mkdtempSync(join(tmpdir(), "rondo-tools-")));
const git = join(root, ".git");
const one = join(git, "modules", "one");
try {
  mkdirSync(one, { recursive: true });
  for (const folder of [git, one])
    for (const name of ["HEAD", "config"]) writeFileSync(join(folder, name), "");
  const guard = gitGuard(root);
  const hooks = [join(git, "hooks"), join(one, "hooks")];
  for (const folder of hooks) {
    mkdirSync(folder);
    writeFileSync(join(folder, "pre-commit"), "evil");
    chmodSync(folder, 0o555);
  }
  for (const folder of [one, join(git, "modules"), git]) chmodSync(folder, 0o000);
  const { taken, left } = cleared(guard);
  const shown = (paths: readonly string[]): string[] => paths.map((path) => relative(root, path));
  const there = hooks.map((path) => existsSync(path));
  process.stdout.write(JSON.stringify({ taken: shown(taken), left: shown(left), there }));
} finally {
  chmodSync(git, 0o700);
  rmSync(root, { recursive: true, force: true });
}
