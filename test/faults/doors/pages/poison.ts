/** Markup and addresses that run, each in another place of a page; `data-evil` shows that one became an element. */
const shapes: readonly ((call: string) => string)[] = [
  (call) => `<img src=x onerror="${call}" data-evil>`,
  (call) => `</script><script data-evil>${call}</script>`,
  (call) => `"><svg/onload=${call} data-evil>`,
  (call) => `'-${call}-'`,
  (call) => `javascript:${call}`,
  (call) =>
    `[x](javascript:${call}) [y](data:text/html,<script>${call}</script>) <b data-evil>z</b>`,
  (call) =>
    `</title></style></textarea><iframe srcdoc="<script>parent.${call}</script>" data-evil></iframe>`,
  (call) =>
    `{{constructor.constructor('${call}')()}} \${${call}} <!--<a data-evil href=//evil.example>`,
];

/** Stands for a hostile text in a value that `fill` gets. */
export const hostileText = "\0";

/** Gives out hostile texts, each with a number of its own by which it is found on a page. */
export class Poison {
  #count = 0;

  /** A hostile text that begins with a mark such as `§12§`. */
  text(): string {
    const mark = `§${this.#count}§`;
    const shape = shapes[this.#count++ % shapes.length];
    return `${mark}${shape?.("hack()") ?? ""}`;
  }

  /** The value with a hostile text of its own wherever `hostileText` stands. */
  fill<T>(value: T): T {
    const quoted = () => JSON.stringify(this.text()).slice(1, -1);
    return JSON.parse(JSON.stringify(value).replaceAll("\\u0000", quoted)) as T;
  }

  /** A hostile address: no mark, so that the scheme comes first. */
  address(): string {
    return "javascript:hack()";
  }

  /** Every shape at once. */
  all(): string {
    return shapes.map(() => this.text()).join(" ");
  }
}
