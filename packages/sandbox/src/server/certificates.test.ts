import { X509Certificate } from 'node:crypto'

import { expect, test } from 'vitest'

import { makeCertificates } from './certificates.ts'

test('the certificate is of the authority, and good for this machine’s names and for no other', async () => {
  const { ca, cert } = await makeCertificates()
  const authority = new X509Certificate(ca)
  const leaf = new X509Certificate(cert)
  expect(authority.ca).toBe(true)
  expect(leaf.ca).toBe(false)
  expect(leaf.checkIssued(authority)).toBe(true)
  expect(leaf.verify(authority.publicKey)).toBe(true)
  expect(leaf.checkHost('localhost')).toBe('localhost')
  expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(leaf.checkIP('::1')).toBe('::1')
  expect(leaf.checkHost('example.com')).toBeUndefined()
  expect(leaf.publicKey.asymmetricKeyType).toBe('ec')
})

test('every sandbox has an authority of its own', async () => {
  const [one, other] = await Promise.all([makeCertificates(), makeCertificates()])
  expect(new X509Certificate(one.cert).verify(new X509Certificate(other.ca).publicKey)).toBe(false)
})

test('every text ends with a newline, so that two of them can be put into one file', async () => {
  for (const pem of Object.values(await makeCertificates())) expect(pem).toMatch(/-----\n$/)
})
