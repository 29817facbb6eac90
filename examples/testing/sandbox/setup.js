import { startSandbox } from '@tokenlane/sandbox'

// before any test, for all of them
export default async function setUp() {
  globalThis.sandbox = await startSandbox({ caFile: new URL('ca.pem', import.meta.url).pathname })
  Object.assign(process.env, globalThis.sandbox.control.environment())
}
