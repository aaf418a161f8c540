import { isoTime } from "../../../streams/iso-times.ts";
import { Problem } from "../../foundation/errors.ts";
import { valueAt } from "../../../streams/where.ts";
import { maxReadableBytes } from "../../foundation/contracts/body-limits.ts";
import type { ReceiptView } from "../../foundation/contracts/operator-api.ts";
import type { Receipt } from "../../foundation/store/receipts.ts";
import { parseStored } from "./interpret.ts";
import { withValue, type Payload } from "./json.ts";

/** Names of fields that hold a secret whatever a sender uses them for, such as Slack's legacy `token`. */
const secretName = /(token|secret|password|passwd|apikey|privatekey|authorization|signature)$/;
const mark = "[redacted]";
const maxDepth = 32;

export interface ReceiptViewDeps {
  readonly receipt: (id: string) => Receipt | null;
  /** Takes the secrets that are known out of a text or of a JSON value. */
  readonly redactor: {
    readonly redact: (text: string) => string;
    readonly redactValue: (value: unknown) => unknown;
  };
}

/** A stored delivery for a person: known secrets and fields that are secrets by their name are redacted. */
export function viewReceipt(id: string, deps: ReceiptViewDeps): ReceiptView {
  const { redactor } = deps;
  const receipt = mustHaveReceipt(deps.receipt, id);
  const payload = shownPayload(receipt);
  const { byteLength: bytes } = receipt.body;
  const headers = Object.entries(receipt.headers).map(
    ([name, value]) => [name, isSecretName(name) ? mark : redactor.redact(value)] as const,
  );
  return {
    receiptId: receipt.id,
    at: isoTime(receipt.at),
    source: receipt.source,
    type: receipt.type,
    deliveryId: receipt.deliveryId,
    headers: Object.fromEntries(headers),
    matched: [...receipt.matched],
    reason: receipt.reason === null ? null : redactor.redact(receipt.reason),
    bytes,
    payload: redactor.redactValue(shownValue(payload, 0, { left: maxReadableBytes })),
    text: payload === null ? redactor.redact(textOf(receipt.body)) : null,
  };
}

/** The JSON of a stored delivery for a person, without its provider's secrets; null when it is not JSON. */
function shownPayload(receipt: Receipt): Payload | null {
  const parsed = parseStored(receipt);
  return parsed && (parsed.provider.secretPaths ?? []).reduce(withoutSecret, parsed.payload);
}

/** Empty values stay visible: a missing secret is worth seeing. */
function withoutSecret(payload: Payload, path: string): Payload {
  const value = valueAt(payload, path);
  return value === undefined || value === null || value === ""
    ? payload
    : withValue(payload, path.split("."), mark);
}

/** The receipt, or Problem `unknown_receipt`. */
export function mustHaveReceipt(receiptOf: (id: string) => Receipt | null, id: string): Receipt {
  const receipt = receiptOf(id);
  if (receipt !== null) return receipt;
  const message = `no receipt "${id}"; receipts are kept as long as the history`;
  throw new Problem("unknown_receipt", message);
}

/** A part of a text could hold a part of a secret, which is not recognized. */
function textOf(body: Uint8Array): string {
  const { byteLength } = body;
  return byteLength > maxReadableBytes
    ? notShown(`${byteLength} bytes`)
    : Buffer.from(body).toString("utf8");
}

function notShown(part: string): string {
  return `[${part}, not shown]`;
}

/** How many characters may still be shown; a number and a brace count like a few. */
interface Room {
  left: number;
}
const bytesOfAny = 8;

/** A value without secrets, cut to the remaining room. */
function shownValue(value: unknown, depth: number, room: Room): unknown {
  room.left -= bytesOfAny;
  if (typeof value === "string") return shownText(value, room);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxDepth) return "[too deep]";
  return Array.isArray(value) ? shownList(value, depth, room) : shownObject(value, depth, room);
}

/** Whole or not at all: a part could hold a part of a secret. */
function shownText(value: string, room: Room): string {
  if (value.length > Math.max(room.left, 0))
    return notShown(`a text of ${value.length} characters`);
  room.left -= value.length;
  return value;
}

function shownList(values: readonly unknown[], depth: number, room: Room): unknown[] {
  const shown: unknown[] = [];
  for (const value of values) {
    if (room.left <= 0) return [...shown, notShown(`${values.length - shown.length} more`)];
    shown.push(shownValue(value, depth + 1, room));
  }
  return shown;
}

function shownObject(value: object, depth: number, room: Room): object {
  const entries = Object.entries(value);
  const shown: [string, unknown][] = [];
  for (const [name, one] of entries) {
    if (room.left <= 0) {
      shown.push(["…", notShown(`${entries.length - shown.length} more`)]);
      break;
    }
    room.left -= name.length;
    shown.push([name, isSecret(name, one) ? mark : shownValue(one, depth + 1, room)]);
  }
  return Object.fromEntries(shown);
}

/** Empty and missing values are shown: a missing secret is worth seeing. */
function isSecret(name: string, value: unknown): boolean {
  if (value === null || value === "" || !isSecretName(name)) return false;
  return typeof value === "string" || typeof value === "number";
}

function isSecretName(name: string): boolean {
  return secretName.test(name.toLowerCase().replace(/[^a-z]/g, ""));
}
