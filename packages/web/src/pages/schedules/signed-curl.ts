/** A command that sends a signed webhook, to be pasted into a shell. */
export function signedCurl(url: string, secret = "whsec_…"): string {
  return `SECRET='${secret}'
BODY='{"ticket": 17}'
T=$(date +%s)
SIGNATURE=$(printf '%s.%s' "$T" "$BODY" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //')
curl -X POST '${url}' \\
  -H 'content-type: application/json' \\
  -H "trackside-signature: t=$T,v1=$SIGNATURE" \\
  -H "trackside-event-id: ticket-17-$T" \\
  -d "$BODY"`;
}
