/** Throws unless `told` is a legal sequence of an elector's events (DESIGN section 7): what happened, in the order in which it was told; a test that starts an elector again notes `started`. */
export function checkGrammar(who: string, told: readonly string[]): void {
  let term: "none" | "leading" | "suspect" | "draining" = "none";
  let stopped = false;
  for (const [at, event] of told.entries()) {
    const [name = ""] = event.split(":");
    const legal = name === "started" ? stopped : !stopped && allows(term, name);
    if (!legal) throw new Error(`${who}: ${event} (number ${at}) is not legal after ${told.slice(0, at).join(" ")}`);
    if (name === "elected" || name === "restored") term = "leading";
    if (name === "suspect" || name === "draining") term = name;
    if (name === "lost") term = "none";
    if (name === "stopped") stopped = true;
    if (name === "started") stopped = false;
  }
  if (term !== "none") throw new Error(`${who}: elected without lost in ${told.join(" ")}`);
}

function allows(term: string, name: string): boolean {
  switch (name) {
    case "standby":
    case "elected":
    case "stopped":
      return term === "none";
    case "suspect":
      return term === "leading";
    case "restored":
      return term === "suspect";
    case "draining":
      return term === "leading" || term === "suspect";
    case "lost":
      return term !== "none";
    default:
      return false;
  }
}
