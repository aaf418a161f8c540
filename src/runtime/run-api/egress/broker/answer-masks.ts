import type { SecretBinding } from "../../../../foundation/contracts/network-allow.ts";
import { encodedForms } from "../../../../foundation/credentials/encoded-forms.ts";
import { distinctMasks, maskOf, type Mask } from "../../masked-bytes.ts";

/** Masks for all encodings in which a host might repeat a secret. The run reads the sentinel in the same encoding. */
export function answerMasks(bindings: readonly SecretBinding[]): readonly Mask[] {
  const masks = bindings.flatMap(({ secret, sentinel }) => {
    if (secret === null) return [];
    const standIn = sentinel
      .slice(0, Buffer.byteLength(secret))
      .padEnd(Buffer.byteLength(secret), "*");
    const puts = encodedForms(standIn);
    return encodedForms(secret).map((form, index) => maskOf(form, puts[index]));
  });
  return distinctMasks(masks);
}
