/** Where the data of one election lies. Every path is as the server sees it, chroot included. */
export interface ElectionPaths {
  readonly election: string;
  /** The parent of the entries. */
  readonly candidates: string;
  /** Who holds the seat. */
  readonly term: string;
  entry(name: string): string;
}

/** The paths of `election` below `base` (chroot and root, joined; empty for the top of the tree). */
export function electionPaths(base: string, election: string): ElectionPaths {
  const top = `${base}/${election}`;
  const candidates = `${top}/candidates`;
  return { election: top, candidates, term: `${top}/term`, entry: (name) => `${candidates}/${name}` };
}

/** Of an absolute path; empty for one directly below the top. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What is wrong with `path` as an absolute path of ZooKeeper; null if nothing is. Source: PathUtils.validatePath of the server. */
export function pathFault(path: string): string | null {
  if (!path.startsWith("/")) return "must begin with a slash";
  if (path === "/") return null;
  for (const name of path.slice(1).split("/")) {
    if (name === "") return "must not contain an empty name or end with a slash";
    if (name === "." || name === "..") return "must not contain the names . and ..";
    if (/[\p{Cc}\p{Cs}\p{Co}\u{fff0}-\u{10ffff}]/u.test(name)) return "contains a character that ZooKeeper does not allow";
  }
  return null;
}
