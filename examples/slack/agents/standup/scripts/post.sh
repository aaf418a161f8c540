# Posts a text to a channel of Slack, and fails if Slack refuses it: sh post.sh <channel> <text>
# https://docs.slack.dev/reference/methods/chat.postMessage
answer=$(curl -sS --fail https://slack.com/api/chat.postMessage \
  -H "Authorization: Bearer $SLACK_BOT_TOKEN" \
  --data-urlencode "channel=$1" --data-urlencode "text=$2") || exit
echo "$answer"
echo "$answer" | grep -q '"ok": *true'
