/** What index values of a general map are called, and the forms over them as text. */
import type { Linear } from "../../ir/linear.js";
import type { Context } from "./context.js";
import { isLarge, type SiteMove, type SitesMove } from "./sites-move.js";
import { wideForm, type WideWords } from "./wide.js";

export const siteName = ({ wide, rule }: SiteMove, s: number): string =>
  wide && rule === undefined ? `wide${s}` : `at${s}`;

export const siteNames = ({ sites }: SitesMove): string[] => sites.map(siteName);

export function wordsOf(context: Context, move: SitesMove, coords: readonly string[]): WideWords {
  const names = siteNames(move);
  return {
    narrow: (form) => context.address(form, coords, names),
    sites: move.sites.map((site, s) => ({ name: siteName(site, s), wide: site.rule === undefined })),
  };
}

/** A position or an address: below 2^31 in the end, whatever it is made from. */
export const narrowForm = (
  context: Context,
  move: SitesMove,
  form: Linear,
  coords: readonly string[],
): string =>
  isLarge(form, move)
    ? `${wideForm(form, wordsOf(context, move, coords))}.x`
    : context.address(form, coords, siteNames(move));
