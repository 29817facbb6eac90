// What a typical application imports of core: what it does not use must not be in its bundle.
export { createTokenManager, envCredentials, generalIssuer, weblinkIssuer } from '@tokenlane/core'
