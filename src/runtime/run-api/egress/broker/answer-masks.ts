import type { SecretBinding } from "../../../../foundation/contracts/egress.ts";
import { encodedForms } from "../../../../foundation/contracts/encoded-forms.ts";
import { distinctMasks, maskOf } from "../../masked-bytes.ts";
import type { Mask } from "../../masked-bytes.ts";

/** Masks for all forms of the secrets that a host might answer with. What the run reads there is the sentinel in the same form. */
export function answerMasks(bindings: readonly SecretBinding[]): readonly Mask[] {
  const masks = bindings.flatMap(({ secret, sentinel }) => {
    const standIn = sentinel
      .slice(0, Buffer.byteLength(secret))
      .padEnd(Buffer.byteLength(secret), "*");
    const puts = encodedForms(standIn);
    return encodedForms(secret).map((form, index) => maskOf(form, puts[index]));
  });
  return distinctMasks(masks);
}
