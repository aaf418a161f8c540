import { setAttribute } from "./dom.ts";

const svgNamespace = "http://www.w3.org/2000/svg";

/** Attributes by name; a class gives the colour, because the page's policy allows no inline style. */
export type SvgAttributes = Readonly<Record<string, string | number>>;

/** A new element of a drawing. */
export function createSvg(
  tag: string,
  attributes: SvgAttributes = {},
  ...children: readonly (SVGElement | string)[]
): SVGElement {
  const element = document.createElementNS(svgNamespace, tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** Changes those attributes that differ. */
export function setAttributes(element: SVGElement, attributes: SvgAttributes): void {
  for (const [name, value] of Object.entries(attributes))
    setAttribute(element, name, String(value));
}

/** A share of a drawing's width or height, which scales with it: `percent(0.5)` is `50%`. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
