# Posts a review, JSON on standard input, and prints GitHub's answer.
# https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
curl -sS --fail "$(sh scripts/url.sh)/reviews" \
  -H "Authorization: Bearer $GITHUB_TOKEN" \
  -H "Accept: application/vnd.github+json" \
  --data-binary @-
