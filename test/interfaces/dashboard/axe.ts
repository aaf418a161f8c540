import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import type { AxeResults } from "axe-core";
import { isLong } from "../../helpers/long.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Elements of one rule that are named; a page may have hundreds. */
const namedElements = 3;

/**
 * The looks of a page, the rules that can fail in each, and of which elements the colours are looked at: they depend on no
 * width, so a narrow page has only those to look at that a wide one hides.
 */
const looks = [
  { colorScheme: "light", width: 1280, rules: tags, coloured: "*" },
  { colorScheme: "light", width: 375, rules: tags, coloured: "[data-hidden]" },
  { colorScheme: "dark", width: 1280, rules: ["color-contrast"], coloured: "*" },
] as const;

/** Marks what a wide page hides. */
const markHidden = `document.querySelectorAll("body *").forEach((element) => {
  if (!element.checkVisibility()) element.setAttribute("data-hidden", "");
})`;

/** What axe finds on a page, `light 1280 rule: elements`: on a wide, light screen; in each look in `test:long`. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const found: string[] = [];
  await page.evaluate(markHidden);
  for (const { colorScheme, width, rules, coloured } of isLong ? looks : looks.slice(0, 1)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const options = JSON.stringify({ runOnly: rules, resultTypes: ["violations"] });
    const colours = JSON.stringify({ rules: [{ id: "color-contrast", selector: coloured }] });
    const { violations } = await page.evaluate<AxeResults>(
      `axe.configure(${colours}), axe.run(document, ${options})`,
    );
    const lines = violations.map(({ id, nodes }) => {
      const elements = nodes.slice(0, namedElements).map(({ target }) => target.join(" "));
      return `${colorScheme} ${width} ${id}: ${elements.join(" | ")}`;
    });
    found.push(...lines);
  }
  return found;
}
