import { searchQuerySchema } from "../../../../src/features/search/search-report.ts";
import { firstSeenAddress } from "../../../../src/interfaces/dashboard/text/addresses.ts";
import { parseTerms } from "../../../../src/features/search/terms.ts";

test("the search for the first occurrence of an error is valid for any error", () => {
  for (const error of [
    "timed out",
    `denied: https://a.example/${"x".repeat(2_000)}`,
    'a "quoted" word',
    `${"x".repeat(298)}/${"abc".repeat(50)}`,
  ]) {
    const query = new URL(firstSeenAddress(error), "http://localhost").searchParams;
    const { q } = searchQuerySchema.parse(Object.fromEntries(query));
    expect(parseTerms(q)).toHaveLength(1);
  }
});
