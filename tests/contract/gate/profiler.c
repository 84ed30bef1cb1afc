/* Another profiler, linked with -lcupti: it subscribes. */
extern int cuptiSubscribe(void **subscriber, void (*callback)(void), void *data);

static void called(void) {}

int begin(void) {
    void *subscriber;
    return cuptiSubscribe(&subscriber, called, 0);
}
