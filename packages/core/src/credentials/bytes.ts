export type Bytes = Uint8Array<ArrayBuffer>

export function bytesOf(text: string): Bytes {
  return new TextEncoder().encode(text)
}

export function base64url(binary: ArrayBuffer | Bytes): string {
  const text = Array.from(new Uint8Array(binary), (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Returns the bytes in base64url or base64; throws for anything else. */
export function fromBase64url(text: string): Bytes {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
