/** Versions of TLS by their numbers on the wire. */
const names = new Map([
  [0x03_00, 'SSL 3.0'],
  [0x03_01, 'TLS 1.0'],
  [0x03_02, 'TLS 1.1'],
  [0x03_03, 'TLS 1.2'],
  [0x03_04, 'TLS 1.3'],
])
const oldest = 0x03_03
const supportedVersions = 43

export interface OfferedTls {
  /** Versions below TLS 1.2, the oldest first. */
  old: string[]
  /** Whether TLS 1.2 or newer is offered too. */
  alsoNew: boolean
}

/**
 * Reads which TLS versions a ClientHello offers (RFC 8446 §4.1.2). A client that offers TLS 1.2 at most states its newest
 * version only, so its older versions stay unknown.
 *
 * @returns `undefined` if the bytes are not a whole ClientHello.
 */
export function offeredTls(bytes: Buffer): OfferedTls | undefined {
  try {
    const versions = readVersions(bytes)
    if (versions === undefined) return undefined
    const old = versions.filter((version) => version < oldest).toSorted((a, b) => a - b)
    return {
      old: old.map((version) => names.get(version) ?? 'SSL'),
      alsoNew: versions.some((version) => version >= oldest),
    }
  } catch (error) {
    // shorter than its length fields say
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function readVersions(bytes: Buffer): number[] | undefined {
  const isClientHello = bytes.readUInt8(0) === 22 && bytes.readUInt8(5) === 1
  if (!isClientHello) return undefined
  const legacyVersion = bytes.readUInt16BE(9)
  let at = 9 + 2 + 32
  at += 1 + bytes.readUInt8(at) // session id
  at += 2 + bytes.readUInt16BE(at) // cipher suites
  at += 1 + bytes.readUInt8(at) // compression methods
  const end = 9 + bytes.readUIntBE(6, 3)
  if (at >= end) return [legacyVersion]
  at += 2
  while (at < end) {
    const type = bytes.readUInt16BE(at)
    const length = bytes.readUInt16BE(at + 2)
    if (type === supportedVersions) {
      const versions = Array.from({ length: (length - 1) >> 1 }, (_, index) =>
        bytes.readUInt16BE(at + 5 + 2 * index),
      )
      // unknown versions are GREASE (RFC 8701)
      return versions.filter((version) => names.has(version))
    }
    at += 4 + length
  }
  return [legacyVersion]
}
