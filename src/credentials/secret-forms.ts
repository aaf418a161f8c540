/** Shorter values are left alone: replacing every `12345` would shred the text and hide nothing. */
export const shortestHidden = 6;
/** A part of a secret file that is worth hiding by itself. */
const minLineLength = 16;

/**
 * The shapes in which a secret may turn up in text: as it is, in JSON, in a URL, in base64 (also inside of a longer
 * base64 text, such as a Basic authorization), and the parts of one that is a file, because logs go by lines and
 * tools print single values.
 */
export function secretForms(secret: string): string[] {
  const values = [secret, ...partsOf(secret)];
  return values.filter(({ length }) => length >= shortestHidden).flatMap(formsOf);
}

/** Lines of a text that has several, with and without their `name:` or `name=`; values of a JSON document. */
function partsOf(secret: string): string[] {
  const texts = jsonTexts(secret);
  const lines = [secret, ...texts].flatMap((text) => {
    const several = text.split(/\r?\n/).map((line) => line.trim());
    return several.length > 1 ? several : [];
  });
  const values = lines.map((line) => line.replace(/^[\w."-]+\s*[:=]\s*/, ""));
  return [...new Set([...texts, ...lines, ...values])].filter(isTelling);
}

/** The first and last line of a PEM file are the same in all of them, and so are addresses. */
function isTelling(line: string): boolean {
  return line.length >= minLineLength && !/^(-----[A-Z ]+-----$|https?:\/\/[^@]*$)/.test(line);
}

/** Every text in a JSON object; none when it is no such document. */
function jsonTexts(secret: string): string[] {
  if (!/^\s*\{/.test(secret)) return [];
  try {
    const texts: string[] = [];
    JSON.parse(secret, (_key, value: unknown) => {
      if (typeof value === "string") texts.push(value);
      return value;
    });
    return texts;
  } catch {
    return [];
  }
}

function formsOf(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  const inUrl = encodeURIComponent(value.toWellFormed());
  return [
    value,
    inJson,
    asciiJson(inJson),
    JSON.stringify(inJson).slice(1, -1),
    inUrl,
    inUrl.replaceAll("%20", "+"),
    inUrl.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    ...base64Forms(Buffer.from(value)),
  ];
}

/** As our own log files write it. */
function asciiJson(json: string): string {
  return json.replaceAll(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Whole, and the part that stays the same whatever stands before and behind it, for each of three offsets. */
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString("base64");
  const inner = [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const first = Math.ceil((offset * 8) / 6);
    return shifted.slice(first, Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const forms = [whole, ...inner].filter(({ length }) => length >= shortestHidden);
  return [...forms, ...forms.map(urlSafe)];
}

function urlSafe(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
