// Where the program keeps what it can make or fetch again.
import { existsSync, readFileSync } from "fs";
import { homedir } from "os";
import path from "path";

/**
 * A clone keeps it among its dependencies. A package may be installed where its user cannot write,
 * so it uses the user's folder for caches, with one folder for each version.
 */
export function cacheFolder(root) {
  const inPlace = path.join(root, "node_modules", ".cache", "quorate");
  if (existsSync(path.join(root, "src"))) return inPlace;
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  try {
    return path.join(userCaches(), "quorate", version);
  } catch {
    // A user without a home, as in a container.
    return inPlace;
  }
}

function userCaches() {
  const given = process.env.XDG_CACHE_HOME;
  if (given && path.isAbsolute(given)) return given;
  const folder = process.platform === "darwin" ? ["Library", "Caches"] : [".cache"];
  return path.join(homedir(), ...folder);
}
