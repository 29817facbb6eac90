// Everything an adapter package needs.
export type { TokenManager } from './manager/token-manager.ts'
export type {
  AdmitOptions,
  Api,
  Attempt,
  Exchange,
  Pass,
  Report,
  SendOptions,
  TokenWait,
  Verdict,
} from './send/api.ts'
export { isClosed, isTokenlaneError, TokenlaneError } from './errors.ts'
export { checkCallOptions, type CallOptions } from './queue/call-options.ts'
export { managerOf, markManaged, mustBeManager, refuseArgument } from './client/attachment.ts'
export { judgeResponses, type JudgedRequest } from './client/judged-response.ts'
export { asErrorOf, withCause } from './client/error-of.ts'
export { discardBody } from './client/discard-body.ts'
export {
  copyOfFields,
  hasAuthorization,
  isReplayable,
  isReplayableRequest,
  requestClass,
  urlOf,
  withToken,
  type HeaderFields,
} from './client/given-request.ts'
export { watchBody, type WaitingBody } from './client/waiting-body.ts'
export { asyncContext, type AsyncContext } from './runtime/builtin-module.ts'
export { OutgoingRequest } from './follow/outgoing-request.ts'
export { sendWithinApi, type OutgoingCall } from './follow/send-within-api.ts'
export { hideRequest, hidingAgent } from './client/hide-request.ts'
export { encryptedOnly, namesProxy } from './client/encrypted-only.ts'
export { didYouMean } from './options/nearest.ts'
export { printable } from './foreign-text.ts'
export { agentSettings, mustKeepFloor } from './tls/tls-floor.ts'
// What a tool that looks at an application needs.
export { configurationOf, inspectionOf, type Inspection } from './manager/inspection.ts'
export { storeOfTool } from './store/token-store.ts'
export { isTool } from './send/calls-without-token.ts'
export { quotesAny } from './issuer/issuer-words.ts'
export { environmentProxy } from './tls/proxy.ts'
