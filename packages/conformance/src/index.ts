// For an adapter of your own.
export { conformance, type ConformanceCell } from './conformance.ts'
export type {
  ScenarioResponse,
  Attached,
  BodyKind,
  ClientErrors,
  Driver,
  Feature,
  Limit,
  RequestBody,
  ScenarioRequest,
} from './driver.ts'
// For a token store or a rate limiter of your own.
export { storeContract, type StoreDriver } from './store-contract.ts'
export { limiterContract, type LimiterDriver } from './limiter-contract.ts'
// For further tests of either.
export { issuersOf } from './sandbox-stage.ts'
export {
  openScriptedApi,
  rejection,
  type Script,
  type ScriptedResponse,
  type ScriptedApi,
  type SeenRequest,
} from './scripted-api.ts'
