import type { Page } from "playwright-core";

type Text = string | RegExp | null;

/** Matches what contains this text. */
export const containing = (text: string): RegExp =>
  new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));

/**
 * What a page shows, by selector: the text of the only element, the texts of all, how many there are, or whether one is
 * visible. `selector@name` is an attribute, or the value of a field. White space counts as one space.
 */
export type Shown = Readonly<Record<string, Text | readonly Text[] | number | boolean>>;

/** Waits until the page shows all of this at once. */
export async function shows(page: Page, expected: Shown): Promise<void> {
  const wanted = Object.entries(expected).map(([key, value]) => [key, asMatcher(value)] as const);
  const read = async () => {
    const all = Object.entries(expected).map(async ([key, value]) => [
      key,
      await valueOf(page, key, value),
    ]);
    return Object.fromEntries(await Promise.all(all)) as unknown;
  };
  await expect.poll(read).toEqual(Object.fromEntries(wanted));
}

function asMatcher(value: Shown[string]): unknown {
  if (value instanceof RegExp) return expect.stringMatching(value);
  return Array.isArray(value) ? value.map(asMatcher) : value;
}

async function valueOf(page: Page, key: string, value: Shown[string]): Promise<unknown> {
  const [selector = "", attribute] = key.split("@");
  const found = page.locator(selector);
  if (typeof value === "number") return found.count();
  if (typeof value === "boolean") return (await found.filter({ visible: true }).count()) > 0;
  const texts = await textsOf(page, selector, attribute);
  return Array.isArray(value) || texts.length !== 1 ? texts : texts[0];
}

/** The texts of all elements of a selector, or their values of an attribute. */
async function textsOf(
  page: Page,
  selector: string,
  attribute?: string,
): Promise<(string | null)[]> {
  const texts = await page.locator(selector).evaluateAll(
    (all, name) =>
      all.map((one) => {
        if (name === "value") return (one as HTMLInputElement).value;
        if (name !== "") return one.getAttribute(name);
        return one instanceof HTMLElement ? one.innerText : one.textContent;
      }),
    attribute ?? "",
  );
  return attribute === undefined
    ? texts.map((text) => text?.replaceAll(/\s+/g, " ").trim() ?? null)
    : texts;
}

/** Resolves once the page has its stream of the scheduler's status. */
export const untilLive = (page: Page) => page.waitForSelector("body[data-connection=live]");
