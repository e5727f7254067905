/*
 * curl_load.h - libcurl, loaded when something is sent and not before.
 *
 * It brings some thirty libraries, and what they do when a program starts
 * takes longer than most of what hearsay does. An app with a device in it, a
 * collector and a command that adds noise need none of them.
 */
#ifndef HOST_BASE_CURL_LOAD_H
#define HOST_BASE_CURL_LOAD_H

#include <curl/curl.h>

/* Every function that is called, by its name without "curl_". */
struct curl_functions {
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *c, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *c);
    CURLcode (*easy_getinfo)(CURL *c, CURLINFO info, ...);
    void (*easy_cleanup)(CURL *c);
    struct curl_slist *(*slist_append)(struct curl_slist *l, const char *line);
    void (*slist_free_all)(struct curl_slist *l);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_setopt)(CURLM *m, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *m, CURL *c);
    CURLMcode (*multi_remove_handle)(CURLM *m, CURL *c);
    CURLMcode (*multi_perform)(CURLM *m, int *running);
    CURLMcode (*multi_poll)(CURLM *m, struct curl_waitfd *more, unsigned n,
                            int milliseconds, int *ready);
    CURLMsg *(*multi_info_read)(CURLM *m, int *left);
    CURLMcode (*multi_cleanup)(CURLM *m);
};

/* All of them, the same each time; NULL if there is no libcurl of version 7.85
 * or later. Any thread. */
const struct curl_functions *hsy_curl_load(void);

#endif
