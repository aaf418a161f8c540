import { UserError } from "../../foundation/errors.ts";
import type { Fields } from "./target.ts";

/** The address in a field. Errors do not quote it, as it is a secret. */
export function addressIn(fields: Fields, field: string): URL {
  const url = URL.parse(requiredField(fields, field).trim());
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw unusable(field, "is not an address that begins with https:// or http://");
  }
  if (url.username !== "" || url.password !== "") {
    throw unusable(field, "has a user or password in it, which would not be sent");
  }
  return url;
}

export function requiredField(fields: Fields, field: string): string {
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (value === undefined || value.trim() === "") throw unusable(field, "is missing");
  return value;
}

export function optionalField(fields: Fields, field: string): string | null {
  const value = Object.hasOwn(fields, field) ? (fields[field] ?? "").trim() : "";
  return value === "" ? null : value;
}

export function unusable(field: string, why: string): UserError {
  return new UserError("unusable_credential", `its field ${field} ${why}`);
}
