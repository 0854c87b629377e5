/** Parses, or takes the time of parsing, the texts of a JSON file: `node verdicts.mjs TEXTS`. */

import { readFileSync } from "node:fs";
import { verdict as best } from "./best.mjs";
import { perCall, serve } from "./clock.mjs";
import { verdict as split } from "./split.mjs";

const VERSIONS = { split, best };
const texts = JSON.parse(readFileSync(process.argv[2], "utf8"));

serve(({ version, text, ms }) => {
  const parse = VERSIONS[version];
  return ms === undefined ? parse(texts[text]) : perCall(() => parse(texts[text]), ms);
});
