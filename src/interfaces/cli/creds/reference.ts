import {
  gatewayKeyType,
  parseCredentialReference,
} from "../../../foundation/contracts/credential-reference.ts";
import type { CredentialReference } from "../../../foundation/contracts/credential-reference.ts";
import { credentialTypes } from "../../../foundation/credentials/credential-types.ts";
import { UserError } from "../../../foundation/errors.ts";
import { closest } from "../../../foundation/contracts/did-you-mean.ts";

/** The credential that a person names. Throws a UserError for what is none, and for the gateway's own key. */
export function credentialOf(name: string): CredentialReference {
  const reference = parseCredentialReference(name);
  if (reference === null) {
    // Not quoted: it may be a secret in the wrong place.
    throw new UserError("usage", "the argument is not a credential", {
      hint: "expected type or type:instance, such as anthropic_key or github_token:bot",
      exitCode: 2,
    });
  }
  if (reference.type !== gatewayKeyType) return reference;
  throw new UserError("usage", `${gatewayKeyType} is the gateway's own key`, {
    hint: "al doctor --show-key shows it, al doctor --regenerate-key makes a new one",
    exitCode: 2,
  });
}

/** The known type that was probably meant by one that is not known; null otherwise. */
export function typeMeant(type: string): string | null {
  if (Object.hasOwn(credentialTypes, type)) return null;
  return closest(type, Object.keys(credentialTypes));
}
