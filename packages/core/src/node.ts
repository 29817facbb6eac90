export { fileCredentials } from './node/file-credentials.ts'
