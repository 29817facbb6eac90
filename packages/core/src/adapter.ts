// What a client's package is written with: the API of a URL, one attempt, and what all clients lack.
export type { TokenManager } from './token-manager.ts'
export type { AdmitOptions, Api, Exchange, Pass, Report, SendOptions } from './send/api.ts'
export { isTokenlaneError, TokenlaneError, type TokenlaneErrorCode } from './errors.ts'
export { checkCallOptions, type CallOptions } from './queue/call-options.ts'
export { managerOf, markHook, markManaged, mustBeManager, refuseArgument } from './exchange/attachment.ts'
export { discardBody } from './exchange/discard-body.ts'
export { copyOfFields, hasAuthorization, withToken, type HeaderFields } from './exchange/header-fields.ts'
export { OutgoingRequest } from './exchange/outgoing-request.ts'
export { sendWithinApi, type FetchArguments, type OutgoingCall } from './exchange/send-within-api.ts'
export type { Hop } from './exchange/redirects.ts'
export type { Referrer } from './exchange/referrer.ts'
export { hideRequest, hidingAgent } from './exchange/hide-request.ts'
export { printable } from './foreign-text.ts'
export { isReplayable } from './exchange/replayable.ts'
export { agentSettings, mustKeepFloor } from './tls/tls-floor.ts'
// What a tool that looks at an application needs.
export {
  configurationOf,
  inspectionOf,
  type Inspection,
  type ManagerConfiguration,
} from './manager/inspection.ts'
export type { ClientOutcome } from './issuer/with-credentials.ts'
export type { SharedServer } from './store/token-store.ts'
export { environmentProxy, type EnvironmentProxy } from './tls/proxy.ts'
