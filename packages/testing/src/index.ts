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
