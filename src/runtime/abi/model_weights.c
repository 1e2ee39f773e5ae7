/* See model_weights.h. */
#include "runtime/abi/model_weights.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct WeightsMap {
  const TilewrightModelTable* table; /* it was checked against this table */
  char* data;
  size_t bytes;
  int32_t users;
  struct WeightsMap* next;
  char path[]; /* as opened */
} WeightsMap;

static pthread_mutex_t weights_mutex = PTHREAD_MUTEX_INITIALIZER;
static WeightsMap* weights_maps = NULL;

/* `folder_of` up to its last '/', then `name`; 0 if that does not fit or has no folder. */
static int weights_beside(char path[PATH_MAX], const char* folder_of, const char* name) {
  const char* slash = strrchr(folder_of, '/');
  if (slash == NULL) return 0;
  const int length = snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - folder_of), folder_of, name);
  return length > 0 && length < PATH_MAX;
}

/* The working directory when this was loaded; empty: unknown. */
static char weights_first_folder[PATH_MAX];
__attribute__((constructor)) static void weights_note_folder(void) {
  if (getcwd(weights_first_folder, sizeof(weights_first_folder)) == NULL) {
    weights_first_folder[0] = '\0';
  }
}

/* Does not block. Reading will show if it is not a regular file. */
static int weights_open_file(const char* path) {
  return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* In the folder of the file that the table was loaded from: a library, or else the program. */
static int weights_open_beside(char path[PATH_MAX], const TilewrightModelTable* table) {
  Dl_info info;
  char program[PATH_MAX];
  int beside_library = ENOENT; /* why it could not be opened there */
  if (dladdr(table, &info) != 0 && info.dli_fname != NULL) {
    /* The loader has the name as given, and the working directory may have changed. */
    char library[2 * PATH_MAX];
    const int relative = info.dli_fname[0] != '/' && weights_first_folder[0] != '\0';
    snprintf(library, sizeof(library), "%s%s%s", relative ? weights_first_folder : "",
             relative ? "/" : "", info.dli_fname);
    if (weights_beside(path, library, table->weights_file)) {
      const int file = weights_open_file(path);
      if (file >= 0) return file;
      beside_library = errno;
    }
  }
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (length > 0) {
    char beside[PATH_MAX];
    program[length] = '\0';
    if (weights_beside(beside, program, table->weights_file)) {
      const int file = weights_open_file(beside);
      if (file >= 0) {
        strcpy(path, beside);
        return file;
      }
    }
  }
  errno = beside_library; /* for the location in `path` */
  return -1;
}

/* Null, or the reason why the file does not belong to the model. */
static const char* weights_problem(int file, const TilewrightModelTable* table) {
  TilewrightWeightsHeader header;
  const int64_t size = TILEWRIGHT_WEIGHTS_OFFSET + table->constant_bytes;
  if (pread(file, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
      memcmp(header.magic, TILEWRIGHT_WEIGHTS_MAGIC, sizeof(header.magic)) != 0) {
    return "it is no file of weights";
  }
  if (header.version != 1) return "it is of another version; compile the model again";
  if (header.bytes != (uint64_t)table->constant_bytes ||
      memcmp(header.hash, table->weights_hash, sizeof(header.hash)) != 0) {
    return "it belongs to another model, or to another compilation of this one";
  }
  if (lseek(file, 0, SEEK_END) != (off_t)size) return "it is cut short";
  return NULL;
}

enum { WeightsPage = 4096, WeightsHugePage = 2 << 20 };

/* Maps the file; MAP_FAILED on error. From the size of a huge page on, it starts at one and
 * requests huge pages: a file has them only if its offset and the address are equal modulo a huge
 * page. */
static char* weights_map_file(int file, size_t bytes) {
  if (bytes < WeightsHugePage) return mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  const size_t size = (bytes + WeightsPage - 1) / WeightsPage * WeightsPage;
  char* room = mmap(NULL, size + WeightsHugePage, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return MAP_FAILED;
  const size_t before = (WeightsHugePage - (uintptr_t)room % WeightsHugePage) % WeightsHugePage;
  char* data = mmap(room + before, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
  if (data == MAP_FAILED) {
    munmap(room, size + WeightsHugePage);
    return MAP_FAILED;
  }
  if (before != 0) munmap(room, before);
  munmap(data + size, WeightsHugePage - before);
  madvise(data, size, MADV_HUGEPAGE); /* a hint */
  return data;
}

/* A new mapping of an open file. */
static WeightsMap* weights_map(int file, const char* path, const TilewrightModelTable* table) {
  const size_t bytes = (size_t)(TILEWRIGHT_WEIGHTS_OFFSET + table->constant_bytes);
  WeightsMap* map = malloc(sizeof(*map) + strlen(path) + 1);
  if (map == NULL) return NULL;
  map->data = weights_map_file(file, bytes);
  if (map->data == MAP_FAILED) {
    free(map);
    return NULL;
  }
  map->table = table;
  map->bytes = bytes;
  map->users = 0;
  strcpy(map->path, path);
  map->next = weights_maps;
  weights_maps = map;
  return map;
}

static int32_t weights_acquire(const TilewrightModelApi* api, const char* wanted,
                               const char** constants, char* text, size_t text_bytes) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s", wanted != NULL ? wanted : api->table->weights_file);
  const int file =
      wanted != NULL ? weights_open_file(wanted) : weights_open_beside(path, api->table);
  if (file < 0) {
    snprintf(text, text_bytes, "%.100s: the weights %.200s cannot be opened: %.100s", api->name,
             path, strerror(errno));
    return TILEWRIGHT_MODEL_NO_WEIGHTS;
  }
  const char* problem = weights_problem(file, api->table);
  WeightsMap* map = problem == NULL ? weights_maps : NULL;
  while (map != NULL && (map->table != api->table || strcmp(map->path, path) != 0)) {
    map = map->next;
  }
  if (map == NULL && problem == NULL) {
    map = weights_map(file, path, api->table);
    if (map == NULL) problem = "it cannot be mapped: no memory";
  }
  close(file);
  if (problem != NULL) {
    snprintf(text, text_bytes, "%.100s: the weights %.200s cannot be used: %s", api->name, path,
             problem);
    return TILEWRIGHT_MODEL_NO_WEIGHTS;
  }
  ++map->users;
  *constants = map->data + TILEWRIGHT_WEIGHTS_OFFSET;
  return TILEWRIGHT_MODEL_OK;
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_weights_open(const TilewrightModelApi* api,
                                                           const char* path, const char** constants,
                                                           char* text, size_t text_bytes) {
  pthread_mutex_lock(&weights_mutex);
  const int32_t code = weights_acquire(api, path, constants, text, text_bytes);
  pthread_mutex_unlock(&weights_mutex);
  return code;
}

TILEWRIGHT_RUNTIME_LINKAGE void tilewright_weights_close(const char* constants) {
  if (constants == NULL) return;
  pthread_mutex_lock(&weights_mutex);
  WeightsMap** link = &weights_maps;
  while (*link != NULL && (*link)->data + TILEWRIGHT_WEIGHTS_OFFSET != constants) {
    link = &(*link)->next;
  }
  WeightsMap* map = *link;
  if (map != NULL && --map->users == 0) {
    *link = map->next;
    munmap(map->data, map->bytes);
    free(map);
  }
  pthread_mutex_unlock(&weights_mutex);
}
