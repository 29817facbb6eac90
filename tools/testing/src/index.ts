export type {
  Answer,
  Attached,
  BodyKind,
  ClientErrors,
  Driver,
  Feature,
  Limit,
  RequestBody,
  ScenarioRequest,
} from './driver.ts'
export { conformance, type ConformanceCell } from './conformance.ts'
export { openService, type Service } from './service.ts'
export {
  openScriptedApi,
  rejection,
  type Script,
  type ScriptedAnswer,
  type ScriptedApi,
  type SeenRequest,
} from './scripted-api.ts'
