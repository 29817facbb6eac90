export default async function tearDown() {
  await globalThis.sandbox.close()
}
