import fc from "fast-check";
import { nasty, nastyText } from "./share.ts";

/** A route as the gateway's own description has it. */
export interface Route {
  readonly method: string;
  /** With `{name}` in place of what varies. */
  readonly path: string;
}

/** A request that is a little, or very, wrong. Paths, header names and values are what HTTP can carry. */
export interface HostileRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly withKey: boolean;
}

/** The routes of a description such as `/openapi.json` gives. */
export function routesOf(api: { paths: object }): Route[] {
  return Object.entries(api.paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => ({ method: method.toUpperCase(), path })),
  );
}

const anyOf = (words: string) => fc.constantFrom(...words.split(" "));
const headerName = anyOf(
  "accept authorization content-type cookie host origin referer range sec-fetch-site x-forwarded-for x-forwarded-host x-forwarded-proto forwarded last-event-id if-none-match x-http-method-override content-encoding expect x-github-event x-github-delivery x-hub-signature-256 stripe-signature upgrade webhook-id webhook-timestamp webhook-signature x-slack-signature x-original-url",
);
const queryName = anyOf(
  "page limit before since agent kind outcome deadLetter lines instance after next __proto__ constructor a[b] page[]  %",
);
const id = anyOf(
  "dev scheduler default dev-abcdefgh dev-aaaaaaaa/../../x github open-github 0193a1b2-0000-7000-8000-000000000001 0193A1B2-0000-7000-8000-000000000001 00000000",
);

/** Such characters don't get into a header by way of HTTP. */
const headerText = nastyText.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "").trim());
const pathText = fc.oneof(
  { weight: 2, arbitrary: id },
  { weight: 3, arbitrary: nastyText.map((text) => encodeURIComponent(text.toWellFormed())) },
  nastyText.map((text) => text.replace(/[^\x21-\x7e]|[?#]/g, "")),
);
const queryText = fc
  .array(fc.tuple(queryName, fc.oneof(pathText, fc.integer().map(String))), { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&"));
const ofJson = (value: unknown) => JSON.stringify(value);
const bodyText = fc.oneof(
  fc.constant(null),
  anyOf(' { null [] "x" 1e999 {"__proto__":{"key":1}}'),
  fc.constant("[".repeat(9_000)),
  fc.json({ maxDepth: 3 }),
  fc.record({ key: nastyText, next: nastyText }).map(ofJson),
  fc.record({ prompt: fc.oneof(nastyText, fc.jsonValue({ maxDepth: 1 })) }).map(ofJson),
  fc.constantFrom(...nasty),
);
const method = anyOf("GET HEAD POST PUT PATCH DELETE OPTIONS");
const type = anyOf(
  "application/json application/x-www-form-urlencoded text/plain multipart/form-data",
);

/** Requests to these routes, now and then to a path that is none. */
export function hostileRequest(routes: readonly Route[]): fc.Arbitrary<HostileRequest> {
  return fc
    .record({
      route: fc.constantFrom(...routes),
      otherMethod: fc.option(method, { freq: 8 }),
      parts: fc.array(pathText, { minLength: 2, maxLength: 2 }),
      suffix: fc.option(pathText, { freq: 8 }),
      query: queryText,
      headers: fc.dictionary(headerName, headerText, { maxKeys: 4 }),
      type: fc.option(type),
      body: bodyText,
      withKey: fc.integer({ min: 0, max: 3 }).map((number) => number > 0),
    })
    .map(({ route, otherMethod, parts, suffix, query, headers, type, body, withKey }) => {
      let index = 0;
      const path = route.path.replaceAll(/\{\w+\}/g, () => parts[index++ % 2] ?? "");
      const url = `${path}${suffix === null ? "" : `/${suffix}`}${query === "" ? "" : `?${query}`}`;
      const typed = type === null ? headers : { ...headers, "content-type": type };
      return { method: otherMethod ?? route.method, url, headers: typed, body, withKey };
    });
}
