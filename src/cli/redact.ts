/** Shorter ones are not replaced wherever they appear: they may be part of anything. */
const SHORTEST_SECRET = 4;

/** A function that takes secrets out of a text: the given ones, and whatever looks like credentials in a URL or in an auth text. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    // As it is, and as it looks inside JSON.
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, "***");
    return clean.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s"']*@/gi, "$1***@").replace(/\b(digest:[^\s:"']+):[^\s"']+/g, "$1:***");
  };
}
