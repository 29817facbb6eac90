// Anchors of headings as forges make them, so that a link such as troubleshoot.md#token_request_failed works in both.

/** Returns the anchor of a heading: its letters and digits, `_` as it stands, `-` for what lies between. */
export function slugOf(heading: string): string {
  return heading
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .replace(/^(\d)/, '_$1')
}
