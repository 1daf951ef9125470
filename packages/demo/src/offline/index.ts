export { type OfflineModelOptions, offlineModel, offlineModelId } from "./offline-model.js";
