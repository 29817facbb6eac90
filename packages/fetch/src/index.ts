export {
  createFetch,
  type CreateFetchOptions,
  type ForeignFetchOptions,
  type TokenlaneFetch,
} from './create-fetch.ts'
export { installTokens } from './install-tokens.ts'
export type { TokenlaneRequestInit } from './given-init.ts'
