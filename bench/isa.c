/* Compiles SPIR-V files for the Vulkan device that there is, and prints what its compiler counts of each: a line `@@ FILE`, then `NAME=VALUE` lines. */
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

static uint32_t *read_words(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  uint32_t *words = malloc(*bytes);
  if (fread(words, 1, *bytes, file) != *bytes) *bytes = 0;
  fclose(file);
  return words;
}

int main(int count, char **paths) {
  VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
  VkInstance instance;
  if (vkCreateInstance(&info, NULL, &instance)) return 3;
  uint32_t devices = 1;
  VkPhysicalDevice physical;
  vkEnumeratePhysicalDevices(instance, &devices, &physical);
  if (devices == 0) return 4;
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  printf("device=%s\n", properties.deviceName);
  VkPhysicalDeviceVulkan12Features features = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
      .vulkanMemoryModel = 1,
      .vulkanMemoryModelDeviceScope = 1};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR counted = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
      .pNext = &features,
      .pipelineExecutableInfo = 1};
  float priority = 1;
  VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
  const char *extension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
  VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &counted,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = 1,
                               .ppEnabledExtensionNames = &extension};
  VkDevice device;
  if (vkCreateDevice(physical, &create, NULL, &device)) return 5;
  VkDescriptorSetLayoutBinding bindings[12];
  for (uint32_t k = 0; k < 12; k++)
    bindings[k] = (VkDescriptorSetLayoutBinding){
        k, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
  VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                         .bindingCount = 12,
                                         .pBindings = bindings};
  VkDescriptorSetLayout sets;
  vkCreateDescriptorSetLayout(device, &set, NULL, &sets);
  VkPushConstantRange constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 64};
  VkPipelineLayoutCreateInfo shape = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                      .setLayoutCount = 1,
                                      .pSetLayouts = &sets,
                                      .pushConstantRangeCount = 1,
                                      .pPushConstantRanges = &constants};
  VkPipelineLayout layout;
  vkCreatePipelineLayout(device, &shape, NULL, &layout);
  PFN_vkGetPipelineExecutableStatisticsKHR statistics =
      (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR");
  for (int a = 1; a < count; a++) {
    size_t bytes = 0;
    uint32_t *words = read_words(paths[a], &bytes);
    if (!words || bytes == 0) return 6;
    VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
    VkShaderModule module;
    if (vkCreateShaderModule(device, &code, NULL, &module)) return 7;
    VkComputePipelineCreateInfo pipe = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = module,
                                                  .pName = "dawn_entry_point"},
                                        .layout = layout};
    VkPipeline pipeline;
    if (vkCreateComputePipelines(device, NULL, 1, &pipe, NULL, &pipeline)) return 8;
    printf("@@ %s\n", paths[a]);
    VkPipelineExecutableInfoKHR executable = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                              .pipeline = pipeline};
    uint32_t found = 0;
    statistics(device, &executable, &found, NULL);
    VkPipelineExecutableStatisticKHR *list = calloc(found, sizeof *list);
    for (uint32_t k = 0; k < found; k++) list[k].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    statistics(device, &executable, &found, list);
    for (uint32_t k = 0; k < found; k++)
      printf("%s=%llu\n", list[k].name, (unsigned long long)list[k].value.u64);
  }
  return 0;
}
