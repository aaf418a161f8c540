import { createHmac, timingSafeEqual } from "node:crypto";
import { parseDuration } from "../../foundation/config/fields.ts";
import { completeFormat, type WebhookFormat } from "../../foundation/config/webhook-format.ts";
import { valueAt } from "../../../streams/where.ts";
import { integer, parseObject, texts, withValue, type Payload } from "./json.ts";
import type {
  EventDescription,
  FilterRule,
  Headers,
  Provider,
  Request,
  ToSign,
  Verdict,
} from "./provider.ts";
import { usualFilters } from "./usual-filters.ts";
import { header, refused, valid, verifyTime } from "./signature.ts";

/**
 * How one sender signs with an HMAC, and where it puts the parts of an event: the keys of a generic source. The places of
 * `sender` are names of one person.
 */
export interface HmacSender
  extends WebhookFormat, Pick<Provider, "type" | "about" | "secretPaths" | "exampleEvent"> {
  /** Meanings of usual filters that have another one with this sender. */
  readonly meanings?: Readonly<Record<string, string>>;
  /** Filters beside the usual ones, each with the places of its value. */
  readonly more?: Readonly<Record<string, FilterRule & { readonly at: string }>>;
  /** Events that test the address and start nothing. */
  readonly pings?: readonly string[];
  /** Values that no path can name. */
  read?(payload: Payload): {
    readonly repository?: string | null;
    readonly branches?: readonly string[];
  };
}

/** A provider from the description of its sender. */
export function hmacProvider(sender: HmacSender): Provider {
  const { type, about, secretPaths, exampleEvent, id, event, time, pings = [] } = sender;
  const { signature, fields } = completeFormat(sender);
  const eventHeader = headerIn(event);
  return {
    type,
    about,
    filters: {
      ...sender.more,
      ...usualFilters((field) => fields[field] !== undefined, sender.meanings),
    },
    ...(secretPaths && { secretPaths }),
    ...(exampleEvent !== undefined && { exampleEvent }),
    ...(eventHeader !== undefined && { eventHeader }),
    secretHeaders: [signature.toLowerCase()],
    keptHeaders: readHeaders(sender),
    verify: (request, secret, now) => verify(sender, request, secret, now),
    sign: (request) => sign(sender, request),
    ...(time !== undefined && headerIn(time) === undefined && timeInBody(time)),
    deliveryId: (payload, headers) => textAt({ payload, headers }, id),
    answerPing: (payload, headers) =>
      pings.includes(textAt({ payload, headers }, event) ?? "") ? { pong: true } : null,
    describe: (payload, headers) => describe(sender, { payload, headers }),
  };
}

/** The headers with parts of an event. */
function readHeaders({ id, event, action, time, fields = {} }: HmacSender): readonly string[] {
  const places = [id, event, action, time, ...Object.values(fields)].flatMap(placesIn);
  return [...new Set(places.flatMap((place) => headerIn(place) ?? []))];
}

function placesIn(text = ""): readonly string[] {
  return text.split(" ").filter(Boolean);
}

/** The lower-case name of the header that a place names; undefined for a path. */
function headerIn(place = ""): string | undefined {
  return /^header:([^ ]+)/.exec(place)?.[1]?.toLowerCase();
}

interface Read {
  readonly payload: Payload;
  readonly headers: Headers;
}

function valueIn({ payload, headers }: Read, place: string): unknown {
  const name = headerIn(place);
  return name === undefined ? valueAt(payload, place) : header(headers, name);
}

/** The first text or number at these places, as text. */
function textAt(read: Read, places: string | undefined): string | null {
  for (const place of placesIn(places)) {
    const value = valueIn(read, place);
    if (typeof value === "number" || (typeof value === "string" && value !== "")) {
      return String(value);
    }
  }
  return null;
}

function verify(sender: HmacSender, request: Request, secret: string, now: number): Verdict {
  const { signature, prefix, encoding, time, tolerance } = completeFormat(sender);
  const given = header(request.headers, signature.toLowerCase());
  if (given === null) return refused("no signature");
  const expected = digest(sender, request, secret);
  if (expected === null) return refused("a header that is signed is missing");
  // Several while a secret is rotated.
  const found = given.split(/[, ]+/).filter((part) => part.startsWith(prefix));
  if (found.length === 0) return refused("signature in an unknown form");
  const hmacs = found.map((part) => part.slice(prefix.length));
  const isHex = encoding === "hex";
  if (!hmacs.some((hmac) => isSame(isHex ? hmac.toLowerCase() : hmac, expected))) {
    return refused("signature does not match");
  }
  if (time === undefined) return valid;
  const payload = parseObject(request.body) ?? {};
  const sent = valueIn({ ...request, payload }, time);
  return verifyTime(timeOf(sent), now, parseDuration(tolerance) ?? 0);
}

/** Compares in constant time, as text: several base64 texts decode to the same bytes. The length is not secret. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The expected HMAC; null if a header that the sender signs is missing. */
function digest(sender: HmacSender, request: Request, secret: string): string | null {
  const { algorithm, encoding, signed, id, time } = completeFormat(sender);
  const mac = createHmac(algorithm, secret);
  for (const part of signed.split(/(\{\w+\})/)) {
    const name = headerIn({ "{id}": id, "{time}": time }[part]);
    const text = name === undefined ? part : header(request.headers, name);
    if (text === null) return null;
    mac.update(part === "{body}" ? request.body : text);
  }
  return mac.digest(encoding);
}

/** Epoch ms of a time as senders write it: Unix seconds or ms, or ISO 8601; NaN for any other value. */
function timeOf(value: unknown): number {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return Number.NaN;
  if (/^\d{1,13}(\.\d{1,9})?$/.test(text)) {
    // Seconds reach this number in the year 5138, milliseconds did in 1973.
    return Number(text) < 1e11 ? Number(text) * 1000 : Number(text);
  }
  const isIso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/.test(text);
  return isIso ? Date.parse(text) : Number.NaN;
}

function sign(sender: HmacSender, { secret, body, now, id, event }: ToSign) {
  const headers: Record<string, string> = {};
  const time = String(Math.floor(now / 1000));
  for (const [part, value] of Object.entries({ id, event, time })) {
    const name = headerIn(sender[part as "id" | "event" | "time"]);
    if (name !== undefined && value !== null) headers[name] = value;
  }
  const { signature, prefix } = completeFormat(sender);
  const hmac = digest(sender, { headers, body }, secret) ?? "";
  return { ...headers, [signature.toLowerCase()]: `${prefix}${hmac}` };
}

/** The body's own time, which test deliveries set to `now`: as a number where it is one. */
function timeInBody(path: string): Pick<Provider, "atTime" | "isKnownByBody"> {
  return {
    isKnownByBody: true,
    atTime: (body, now) => {
      const payload = parseObject(body);
      if (payload === null) return body;
      const old = valueAt(payload, path);
      const time = timeOf(old) === old ? now : Math.floor(now / 1000);
      const dated = typeof old === "number" ? time : new Date(now).toISOString();
      return Buffer.from(JSON.stringify(withValue(payload, path.split("."), dated)));
    },
  };
}

function describe(sender: HmacSender, read: Read): EventDescription {
  const { fields } = completeFormat(sender);
  const { payload } = read;
  const own = sender.read?.(payload) ?? {};
  const event = textAt(read, sender.event) ?? "event";
  const branches = own.branches ?? texts(payload, ...placesIn(fields.branch)).flatMap(branchOf);
  const more = Object.fromEntries(
    Object.entries(sender.more ?? {}).map(([name, { at }]) => [
      name,
      texts(payload, ...placesIn(at)),
    ]),
  );
  return {
    event,
    action: textAt(read, sender.action) ?? /[.:/]([^.:/]+)$/.exec(event)?.[1] ?? null,
    repo: textAt(read, fields.repository) ?? own.repository ?? null,
    number: numberAt(payload, fields.number),
    title: textAt(read, fields.title),
    body: textAt(read, fields.body),
    url: textAt(read, fields.url),
    author: textAt(read, fields.author),
    labels: texts(payload, ...placesIn(fields.labels)),
    sender: textAt(read, fields.sender),
    branch: branches[0] ?? null,
    conclusion: textAt(read, fields.conclusion),
    headSha: textAt(read, fields.head_sha),
    attributes: { branches, sender: texts(payload, ...placesIn(fields.sender)), ...more },
  };
}

/** `refs/heads/main` is the branch main, `refs/tags/v1` is not a branch, and a bare name is one. */
function branchOf(ref: string): readonly string[] {
  const branch = ref.replace(/^refs\/heads\//, "");
  return branch.startsWith("refs/") ? [] : [branch];
}

/** The first integer at these paths; that of a key such as `WEB-12`, too. */
function numberAt(payload: Payload, paths: string | undefined): number | null {
  const values = placesIn(paths).map((path) => valueAt(payload, path));
  const keys = values.map((one) => (typeof one === "string" ? one.replace(/^[A-Z]\w*-/, "") : one));
  return integer(keys, ...keys.map((_, index) => String(index)));
}
