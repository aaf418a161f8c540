import { expect, test } from "vitest";
import { html, trusted } from "../../../src/interfaces/dashboard/html.ts";

test("text that is put into markup stays text", () => {
  const name = `<img src=x onerror="alert('&')">`;
  expect(html`<b title="${name}">${name}</b>`.html).toBe(
    '<b title="&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;">' +
      "&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;</b>",
  );
});

test("markup inside markup stays markup, null is nothing, lists are joined", () => {
  const items = ["a", "<"].map((item) => html`<li>${item}</li>`);
  expect(html`${items}${null}${1}${trusted("<hr>")}`.html).toBe("<li>a</li><li>&lt;</li>1<hr>");
});
