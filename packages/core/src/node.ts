export { fileCredentials } from './node/file-credentials.ts'
export { fileAssertion } from './node/file-assertion.ts'
export type { AssertionCredentials, AssertionProvider } from './credentials/credentials.ts'
