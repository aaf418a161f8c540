# Prints the diff of the pull request that started the run.
# https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
curl -sS --fail "$(sh scripts/url.sh)" \
  -H "Authorization: Bearer $GITHUB_TOKEN" \
  -H "Accept: application/vnd.github.diff"
